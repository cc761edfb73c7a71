"""The login page. It needs no script."""

from html import escape
from urllib.parse import parse_qs, quote, urlsplit

from starlette.responses import HTMLResponse

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
STYLE = """
:root { color-scheme: light dark; font-family: system-ui, sans-serif; font-size: 16px; }
body { display: grid; min-height: 90vh; place-items: center; margin: 16px; }
main { width: 100%; max-width: 22rem; }
h1 { font-size: 1.5rem; }
label { display: block; margin: 1rem 0 .25rem; }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; }
button { margin-top: 1.5rem; width: 100%; font: inherit; padding: .6rem; border: 0;
  border-radius: 4px; background: #1f5f8b; color: white; cursor: pointer; }
:focus-visible { outline: 3px solid #d98e04; outline-offset: 2px; }
[role=alert] { border-left: 4px solid #c62828; padding-left: .75rem; }
"""


def local_path(target: str) -> str:
    """Return a path of this server to go to after login; "/" for anything else."""
    if not target.startswith("/") or any(letter < "!" or letter in "\\\x7f" for letter in target):
        return "/"
    parts = urlsplit(target)
    if parts.scheme or parts.netloc or parts.path.startswith("//"):
        return "/"
    return quote(target, safe="/?&=%:@!$'()*+,;~-._[]")


def login_page(
    target: str = "/", message: str = "", name: str = "", status: int = 200
) -> HTMLResponse:
    """Return the page with its form."""
    alert = f'<p role="alert">{escape(message)}</p>' if message else ""
    return _page(
        f"""<h1>Headrace</h1>{alert}
<form method="post" action="/login">
<input type="hidden" name="next" value="{escape(local_path(target))}">
<label for="name">Name</label>
<input id="name" name="name" value="{escape(name)}" autocomplete="username" required
 autocapitalize="none" spellcheck="false" maxlength="64">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required
 maxlength="256">
<button type="submit">Log in</button>
</form>""",
        status,
    )


def same_site_page(target: str) -> HTMLResponse:
    """Return a page that leads to a path of this server.

    After a link from another site the browser sends no session, and does after this.
    """
    there = escape(local_path(target))
    page = _page(f'<p><a href="{there}">Continue</a></p>', 200)
    page.headers["refresh"] = f"0; url={local_path(target)}"
    return page


def form_values(body: bytes) -> dict[str, str]:
    """Return the values of a form that was posted."""
    try:
        fields = parse_qs(body.decode("ascii"), max_num_fields=10, keep_blank_values=True)
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}


def _page(content: str, status: int) -> HTMLResponse:
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Log in - Headrace'
        '</title><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><main>{content}</main></body></html>"
    )
    headers = {"content-security-policy": POLICY, "cache-control": "no-store"}
    return HTMLResponse(text, status, headers=headers)
