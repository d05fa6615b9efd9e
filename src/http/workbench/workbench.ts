import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Middleware } from 'koa'
import { COMMAND } from '../../command-name.ts'
import { Refusal } from '../../errors.ts'
import type { RequestContext, RequestState } from '../request.ts'
import { pagePolicy } from '../public-routes/page-policy.ts'
import { ASSETS, COMMAND_META, NONCE_META, PAGES } from './addresses.ts'
import type { PageFiles } from './page-files.ts'

/** The folder of the built page: `dist/web`, beside `dist/src`. */
export const BUILT_PAGE = fileURLToPath(new URL('../../../web', import.meta.url))

/**
 * Serves the page and its files. The same page answers `/` and the addresses below the first segments of `PAGES`, for clients that prefer
 * HTML, as browsers do. An address of one segment that is not the beginning of a route (`isRoute`) gets the page with 404, so that users
 * get a readable message. All other requests, and those below `/api`, go to the routes of REST.
 */
export function workbench(files: PageFiles, isRoute: (segment: string) => boolean): Middleware<RequestState> {
  return (ctx, next) => {
    if (!isAtRoot(ctx)) return next()
    const { path } = ctx
    const end = path.indexOf('/', 1)
    const segment = path.slice(1, end < 0 ? undefined : end)
    if (SEGMENTS.has(segment)) {
      ctx.vary('Accept')
      if (ctx.accepts('json', 'html') !== 'html') return next()
      ctx.state.route = segment === '' ? '/' : `/${segment}/…`
      ctx.state.isRead = true
      return answerPage(ctx, files.page, 200)
    }
    // Files beside the page have an extension, which no REST route of one segment has.
    const file = segment === ASSETS || (end < 0 && segment.includes('.')) ? files.file(path) : undefined
    if (!file && segment !== ASSETS) {
      if (end >= 0 || ctx.accepts('json', 'html') !== 'html' || isRoute(segment)) return next()
      ctx.vary('Accept')
      ctx.state.route = '/…'
      ctx.state.isRead = true
      return answerPage(ctx, files.page, 404)
    }
    ctx.state.route = `/${ASSETS}/…`
    ctx.state.isRead = true
    if (!file) throw noSuchFile(ctx)
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin')
    return Promise.resolve(file(ctx))
  }
}

const SEGMENTS: ReadonlySet<string> = new Set(['', ...Object.values(PAGES)])

/** Whether the request was sent to the address that the routes see, without a prefix such as `/api`. */
function isAtRoot({ originalUrl, path }: RequestContext): boolean {
  const [sent = ''] = originalUrl.split('?', 1)
  return sent === path || sent === `${path}/`
}

function answerPage(ctx: RequestContext, page: string | undefined, status: 200 | 404): void {
  const nonce = randomBytes(16).toString('base64')
  ctx.set('Content-Security-Policy', page === undefined ? UNBUILT_POLICY : policyOf(nonce))
  // Pages of other origins must not learn our addresses, but our own requests are recognised by theirs.
  ctx.set('Referrer-Policy', 'same-origin')
  ctx.set('X-Frame-Options', 'DENY')
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin')
  // Each answer has a new nonce, so it is not cached and has no entity tag.
  ctx.set('Cache-Control', 'no-cache')
  ctx.status = page === undefined ? 503 : status
  ctx.type = 'text/html; charset=utf-8'
  const metas = `<meta name="${NONCE_META}" content="${nonce}">\n<meta name="${COMMAND_META}" content="${COMMAND}">`
  ctx.body = page?.replace('<head>', `<head>\n${metas}`) ?? UNBUILT
}

/**
 * The page's policy: it may run scripts and load files of this server only, and no inline ones. The editor and the dialogs create style
 * elements at run time, which the nonce allows.
 */
function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function noSuchFile(ctx: RequestContext): Refusal {
  ctx.set('Cache-Control', 'no-store')
  return new Refusal(
    'file_not_found',
    `There is no file ${ctx.path.slice(0, 200)}. If the server was built anew, load the page again.`,
  )
}

const STYLE = `
:root { color-scheme: light dark }
body { max-width: 42rem; margin: 4rem auto; padding: 0 1rem; font: 16px/1.6 system-ui, sans-serif }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9em }
pre { padding: .7rem 1rem; border: 1px solid; border-radius: 6px; overflow: auto }
`

const UNBUILT_POLICY = pagePolicy({ style: STYLE })

const UNBUILT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Branchpoint</title>
<style>${STYLE}</style>
</head>
<body>
<h1>The page is not built</h1>
<p>The server runs, and its <a href="/docs/api">REST interface</a> answers. Whoever runs it builds the page, in the server's folder, and loads this
again:</p>
<pre>npm run build</pre>
</body>
</html>
`
