"""A provider of OpenID Connect for tests: oidc-provider-mock over TLS, with the clients and users that it is given.

What it leaves open a provider in use insists on: a client shows its secret, and the verifier of its code challenge.

    openid_provider.py SITE_PACKAGES CERTIFICATE KEY USERS_JSON

A user's claim `userinfo` has further claims, which the userinfo endpoint says and the ID token does not.

Prints its port, then serves until it is ended.
"""

import json
import logging
import socket
import sys

packages, certificate, key, users = sys.argv[1:]
sys.path.insert(0, packages)

import uvicorn  # noqa: E402
from authlib.oauth2.rfc7636 import CodeChallenge  # noqa: E402
from oidc_provider_mock import _app  # noqa: E402
from oidc_provider_mock._storage import Client, User  # noqa: E402

challenges = {}


class Challenge(CodeChallenge):
    def get_authorization_code_challenge(self, authorization_code):
        return challenges[authorization_code.code][0]

    def get_authorization_code_challenge_method(self, authorization_code):
        return challenges[authorization_code.code][1]


save = _app.AuthorizationCodeGrant.save_authorization_code


def save_with_challenge(self, code, request):
    data = request.payload.data
    challenges[code] = (data["code_challenge"], data["code_challenge_method"])
    save(self, code, request)


_app.AuthorizationCodeGrant.save_authorization_code = save_with_challenge
server = _app.flask_oauth2.AuthorizationServer
register = server.register_grant


def register_with_challenge(self, grant, extensions=None):
    if grant is _app.AuthorizationCodeGrant:
        extensions = [*extensions, Challenge(required=True)]
    register(self, grant, extensions)


server.register_grant = register_with_challenge


class ClientOfTests(Client):
    """Takes one name, one secret and one way to show it."""

    def __init__(self, *, id, **_):
        super().__init__(
            id=id,
            secret="s3cret of tests",
            redirect_uris=_app.ClientAllowAny(),
            allowed_scopes=Client.SCOPES_SUPPORTED,
            token_endpoint_auth_method="client_secret_basic",
        )


claims_of = _app._user_claims_for_scope


def claims_of_token(self, user, scope):
    return {name: value for name, value in claims_of(user, scope).items() if name != "userinfo"}


def claims_of_userinfo(user, scope):
    claims = dict(claims_of(user, scope))
    return {**claims, **claims.pop("userinfo", {})}


_app.OpenIDCode.generate_user_info = claims_of_token
_app._user_claims_for_scope = claims_of_userinfo
_app.Client = type("Client", (ClientOfTests,), {})
logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
known = [User(sub=user.pop("sub"), claims=user) for user in json.loads(users)]
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
app = _app.app(require_nonce=True, user_claims=known)
config = uvicorn.Config(app, interface="wsgi", ssl_certfile=certificate, ssl_keyfile=key, log_config=None)
uvicorn.Server(config).run(sockets=[listening])
