"""Commands as records: the fields are the parameters, a method computes the answer.

The options of the terminal, the forms of pages, the requests of the API and calls from Python are
made of them.
"""
