import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Middleware } from 'koa'
import { COMMAND } from '../../command-name.ts'
import { Refusal } from '../../errors.ts'
import type { RequestContext, RequestState } from '../request.ts'
import { pagePolicy } from '../public-routes/page-policy.ts'
import { ASSETS, COMMAND_META, NONCE_META, PAGES } from './addresses.ts'
import type { PageFiles } from './page-files.ts'

/** Where the build puts the page: `dist/web`, beside `dist/src`. */
export const BUILT_PAGE = fileURLToPath(new URL('../../../web', import.meta.url))

/**
 * The page that people use: the same one at `/` and below the first segments of `PAGES`, for whoever prefers HTML, as browsers do, and the files
 * that it loads. An address of one segment that begins no route either (`isRoute`) is the page, too, with 404: it says so in the words of people.
 * Everything else is left to the routes of REST, also at these addresses, and whatever is asked for under `/api`.
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
    // What lies beside the page has an ending, as no route of REST has that is found by one segment.
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

/** Whether the address was sent as the routes see it, with nothing like `/api` before it. */
function isAtRoot({ originalUrl, path }: RequestContext): boolean {
  const [sent = ''] = originalUrl.split('?', 1)
  return sent === path || sent === `${path}/`
}

function answerPage(ctx: RequestContext, page: string | undefined, status: 200 | 404): void {
  const nonce = randomBytes(16).toString('base64')
  ctx.set('Content-Security-Policy', page === undefined ? UNBUILT_POLICY : policyOf(nonce))
  // A page of another origin learns no address from ours; requests to our own are told from others by theirs.
  ctx.set('Referrer-Policy', 'same-origin')
  ctx.set('X-Frame-Options', 'DENY')
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin')
  // Each answer has a nonce of its own, so none is sent again, and there is nothing to compare it by.
  ctx.set('Cache-Control', 'no-cache')
  ctx.status = page === undefined ? 503 : status
  ctx.type = 'text/html; charset=utf-8'
  const metas = `<meta name="${NONCE_META}" content="${nonce}">\n<meta name="${COMMAND_META}" content="${COMMAND}">`
  ctx.body = page?.replace('<head>', `<head>\n${metas}`) ?? UNBUILT
}

/**
 * What the page may do: run scripts and load files of this server, and nothing that stands in the page or comes from elsewhere. The editor and
 * the dialogs make style elements while they run, which the nonce allows.
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
<p>The server runs, and its <a href="/docs">REST interface</a> answers. Whoever runs it builds the page, in the server's folder, and loads this
again:</p>
<pre>npm run build</pre>
</body>
</html>
`
