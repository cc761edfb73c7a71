"""Who may do what: users and their tokens, requests from elsewhere, files of the host."""
