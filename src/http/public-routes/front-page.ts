import { createRequire } from 'node:module'
import type { PublicRoute } from './public-routes.ts'
import { pagePolicy } from './page-policy.ts'

/**
 * `GET /`: what answers here, its version, where it is documented and how to get a key: a page to whoever prefers HTML, as browsers do,
 * and JSON to everybody else. Its links are relative, so that they hold under `/api` and behind a proxy that adds a prefix.
 */
export function frontPage(): PublicRoute {
  const version = packageVersion()
  const page = pageOf(version)
  const policy = pagePolicy({ style: STYLE })
  const record = JSON.stringify({
    name: 'branchpoint',
    version,
    docs: '/docs',
    openapi: '/openapi.json',
    key: KEY,
  })
  return (ctx) => {
    ctx.vary('Accept')
    if (ctx.accepts('json', 'html') === 'html') {
      ctx.set('Content-Security-Policy', policy)
      ctx.set('Referrer-Policy', 'no-referrer')
      ctx.body = page
      ctx.type = 'text/html; charset=utf-8'
    } else {
      ctx.body = record
      ctx.type = 'application/json'
    }
  }
}

/** `GET /favicon.ico`: there is none, which browsers keep for a day. */
export const noIcon: PublicRoute = (ctx) => {
  ctx.status = 204
  ctx.set('Cache-Control', 'public, max-age=86400')
}

const COMMAND = 'npx branchpoint keys create --name me --scopes read,write,invoke'

const KEY =
  'Everything but the documentation needs an API key, sent as "Authorization: ApiKey <key>". Whoever runs the server makes one, in the ' +
  `server's folder: ${COMMAND}`

const STYLE = `
:root { color-scheme: light dark }
body { max-width: 42rem; margin: 4rem auto; padding: 0 1rem; font: 16px/1.6 system-ui, sans-serif }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9em }
pre { padding: .7rem 1rem; border: 1px solid; border-radius: 6px; overflow: auto }
`

function pageOf(version: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Branchpoint</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Branchpoint</h1>
<p>A registry for prompts, workflows, evaluators, testsets and environments in which every artifact is a git repository.
This is its REST interface, version ${version}.</p>
<ul>
<li><a href="docs">Documentation of every route</a></li>
<li><a href="openapi.json">The same as an OpenAPI document</a></li>
<li><a href="ready">Whether the server is ready</a></li>
</ul>
<h2>A key</h2>
<p>Everything else needs an API key, sent as <code>Authorization: ApiKey &lt;key&gt;</code>. The first start of a server prints one.
Whoever runs the server makes more, in the server's folder:</p>
<pre>${COMMAND}</pre>
</body>
</html>
`
}

/** Of the package that this was built in. */
function packageVersion(): string {
  const record: unknown = createRequire(import.meta.url)('../../../../package.json')
  return (record as { readonly version: string }).version // npm lets no package be without one
}
