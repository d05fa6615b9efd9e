import { docsPage } from '../docs/docs-page.ts'
import { DOCS_SCRIPT } from '../docs/docs-script.ts'
import { DOCS_STYLE } from '../docs/docs-style.ts'
import { immutableResponse } from './lasting-answer.ts'
import type { PublicRoute } from './public-routes.ts'
import { pagePolicy } from './page-policy.ts'

/** `GET /openapi.json`: the document, made and written out on the first request: a start has no time for it. */
export function openApiRoute(openApi: () => object): PublicRoute {
  return immutableResponse('application/json', () => JSON.stringify(openApi()))
}

/**
 * `GET /docs`: the document as one page to read in a browser. It loads nothing, from here or elsewhere; its policy
 * allows exactly its own style and script. Made on the first request.
 */
export function docs(openApi: () => object): PublicRoute {
  const answer = immutableResponse('text/html; charset=utf-8', () => docsPage(openApi()))
  return (ctx) => {
    ctx.set('Content-Security-Policy', POLICY)
    ctx.set('Referrer-Policy', 'no-referrer')
    return answer(ctx)
  }
}

const POLICY = pagePolicy({ style: DOCS_STYLE, script: DOCS_SCRIPT })
