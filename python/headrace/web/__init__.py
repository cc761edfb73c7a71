"""The browser: pages and a JSON API over the same calls as the command line.

    headrace serve

A page is a file of `pages` and a line in its list, as a part of the API is in `api`. Long work
runs as a job: a process of `headrace` with a directory of its own (`jobs`). Needs the extra `web`.
"""
