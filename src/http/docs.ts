import { docsPage } from './docs/docs-page.ts'
import { DOCS_SCRIPT } from './docs/docs-script.ts'
import { DOCS_STYLE } from './docs/docs-style.ts'
import type { OpenRoute } from './open-routes.ts'
import { pagePolicy } from './page-policy.ts'

/** `GET /openapi.json`: the document, made and written out on the first request: a start has no time for it. */
export function openApiDocument(openApi: () => object): OpenRoute {
  let text: string | undefined
  return (ctx) => {
    text ??= JSON.stringify(openApi())
    ctx.body = text
    ctx.type = 'application/json'
  }
}

/**
 * `GET /docs`: the document as one page to read in a browser. It loads nothing, from here or elsewhere; its policy
 * allows exactly its own style and script. Made on the first request.
 */
export function docs(openApi: () => object): OpenRoute {
  let page: string | undefined
  return (ctx) => {
    page ??= docsPage(openApi())
    ctx.set('Content-Security-Policy', POLICY)
    ctx.set('Referrer-Policy', 'no-referrer')
    ctx.body = page
    ctx.type = 'text/html; charset=utf-8'
  }
}

const POLICY = pagePolicy({ style: DOCS_STYLE, script: DOCS_SCRIPT })
