"""Design a storage system: capacity, reliability, facility, cost, performance, and the search."""
