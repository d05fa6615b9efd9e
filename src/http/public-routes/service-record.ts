import { createRequire } from 'node:module'
import { COMMAND } from '../../command-name.ts'
import type { PublicRoute } from '../request.ts'

/**
 * `GET /` for clients that do not prefer HTML: the service's name and version, its documentation, and how to
 * get a key.
 */
export function serviceRecord(): PublicRoute {
  const record = JSON.stringify({
    name: 'branchpoint',
    version: packageVersion(),
    docs: '/docs',
    openapi: '/openapi.json',
    key: KEY,
  })
  return (ctx) => {
    ctx.vary('Accept')
    ctx.body = record
    ctx.type = 'application/json'
  }
}

/** `GET /favicon.ico`: there is none; browsers cache this for a day. */
export const noIcon: PublicRoute = (ctx) => {
  ctx.status = 204
  ctx.set('Cache-Control', 'public, max-age=86400')
}

const KEY =
  'Everything but the documentation needs an API key, sent as "Authorization: ApiKey <key>". Whoever runs the server makes one, in the ' +
  `server's folder: ${COMMAND} keys create --name me --scopes read,write,invoke`

/** The version of the package that contains this build. */
export function packageVersion(): string {
  const record: unknown = createRequire(import.meta.url)('../../../../package.json')
  return (record as { readonly version: string }).version // npm requires a version
}
