"""The user and the session of a request, as the middleware found them."""

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from headrace.web.access.users import User

SESSION = "headrace.session"
"""Key of a scope: name of the session that the request belongs to."""


def user_of(request: HTTPConnection) -> User:
    """Return the user of a request. Raises HTTPException (401) if the middleware found none."""
    user = request.scope.get("headrace.user")
    if not isinstance(user, User):
        raise HTTPException(401, "log in first")
    return user
