"""The user of a request, as the middleware found it."""

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from headrace.web.access.users import User


def user_of(request: HTTPConnection) -> User:
    """Return the user of a request. Raises HTTPException (401) if the middleware found none."""
    user = request.scope.get("headrace.user")
    if not isinstance(user, User):
        raise HTTPException(401, "log in first")
    return user
