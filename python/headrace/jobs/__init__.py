"""Jobs: requests of processes in files, and the job files of fio that describe them."""
