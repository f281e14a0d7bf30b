/** What the dashboard's page is told of signing in by OpenID Connect, in its `<meta name="oidc">`; none: by API key only. */
export interface DashboardSignIn {
  readonly issuer: string;
  readonly clientId: string;
  /** By blanks, e.g. `openid`. */
  readonly scopes: string;
  /** RFC 8707: for whom the access token is made; null: the provider knows. */
  readonly resource: string | null;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** null: the provider can't end its own session. */
  readonly endSessionEndpoint: string | null;
}
