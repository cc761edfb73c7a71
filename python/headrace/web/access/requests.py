"""The user of a request, as the middleware found it."""

from starlette.requests import HTTPConnection

from headrace.web.access.users import LOCAL, User


def user_of(request: HTTPConnection) -> User:
    """Return the user of a request."""
    user = request.scope.get("headrace.user")
    return user if isinstance(user, User) else User(LOCAL, operator=True)
