import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { nodeFs } from '../../storage/files.ts'
import { type ImmutableOptions, immutableResponse } from '../public-routes/lasting-answer.ts'
import { pagePolicy } from '../public-routes/page-policy.ts'
import type { PublicRoute } from '../request.ts'

/**
 * `GET /docs` and below: the guide, as the build made it from docs/; and `GET /docs/api`: Swagger UI over `/openapi.json`, and its files. All are served from here: Swagger UI's copied
 * by the build, at an address with its version, so that browsers cache them; our own as built. Files are read
 * on first use.
 */
export function viewer(): Readonly<Record<string, PublicRoute>> {
  const built = new URL('../../../swagger-ui/', import.meta.url)
  const record: unknown = createRequire(import.meta.url)(fileURLToPath(new URL('package.json', built)))
  const { version } = record as { readonly version: string } // npm requires a version
  const folder = `docs/swagger-ui-${version}`
  const ofSwaggerUi = (name: string, type: string): [string, PublicRoute] => [
    `/${folder}/${name}`,
    fileResponse(fileURLToPath(new URL(name, built)), type, { cacheControl: FOR_A_YEAR }),
  ]
  const ofOurs = (name: string): [string, PublicRoute] => [
    `/docs/${name}`,
    fileResponse(fileURLToPath(new URL(name, import.meta.url)), SCRIPT),
  ]
  return Object.fromEntries([
    ...guide(),
    ['/docs/api', page(1, API_POLICY, (up) => apiPage(folder, up))],
    ofSwaggerUi('swagger-ui.css', 'text/css; charset=utf-8'),
    ofSwaggerUi('swagger-ui-bundle.js', SCRIPT),
    ofOurs('start-viewer.js'),
    ofOurs('request-text.js'),
  ])
}

const SCRIPT = 'text/javascript; charset=utf-8'

const FOR_A_YEAR = 'public, max-age=31536000, immutable'

/** The pages and pictures of the guide; `pages.json` lists them. Without them (a build of the compiler alone) there are none. */
function guide(): [string, PublicRoute][] {
  const built = new URL('../../../docs/', import.meta.url)
  const listed = nodeFs.readFile(fileURLToPath(new URL('pages.json', built)))
  if (!listed) return []
  const { pages, pictures } = JSON.parse(textOf(listed)) as {
    readonly pages: Readonly<Record<string, string>>
    readonly pictures: readonly string[]
  }
  const pathOf = (name: string): string => fileURLToPath(new URL(name, built))
  const html = (file: string, up: string): string => {
    const bytes = nodeFs.readFile(pathOf(file))
    if (bytes) return textOf(bytes).replaceAll('@up@', up)
    throw new Error(`${file} is missing: build again`)
  }
  const pageAt = ([address, file]: [string, string]): [string, PublicRoute] => {
    const path = address === '' ? '/docs' : `/docs/${address}`
    return [path, page(path.split('/').length - 2, GUIDE_POLICY, (up) => html(file, up))]
  }
  const fileAt = (name: string): [string, PublicRoute] => [
    `/docs/${name}`,
    fileResponse(pathOf(name), TYPES[name.replace(/^.*\./, '')] ?? 'application/octet-stream'),
  ]
  return [...Object.entries(pages).map(pageAt), ...[...pictures, 'guide.css'].map(fileAt)]
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
}

/**
 * A page that lies `depth` folders below the root. Its links are relative, so that they work under `/api`, behind a proxy with a prefix, and
 * with a trailing slash.
 */
function page(depth: number, policy: string, make: (up: string) => string): PublicRoute {
  const html = (levels: number): PublicRoute =>
    immutableResponse('text/html; charset=utf-8', () => make('../'.repeat(levels)))
  const [beside, below] = [html(depth), html(depth + 1)]
  return (ctx) => {
    ctx.set('Content-Security-Policy', policy)
    ctx.set('Referrer-Policy', 'no-referrer')
    return (/^[^?]*\/(?:\?|$)/.test(ctx.originalUrl) ? below : beside)(ctx)
  }
}

const STYLE = `
.swagger-ui .info { margin: 24px 0 }
.swagger-ui .scheme-container { margin: 0; padding: 12px 0 }
.example-request { padding: 12px 20px }
.example-request .curl { padding-right: 56px !important }
.example-request .copy-to-clipboard { right: 12px !important }
`

const API_POLICY = pagePolicy({ style: STYLE, ownFiles: true })
const GUIDE_POLICY = pagePolicy({ style: '', ownFiles: true })

function apiPage(folder: string, up: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Branchpoint</title>
<link rel="stylesheet" href="${up}${folder}/swagger-ui.css">
<style>${STYLE}</style>
<script defer src="${up}${folder}/swagger-ui-bundle.js"></script>
<script type="module" src="${up}docs/start-viewer.js"></script>
</head>
<body>
<div id="docs" data-document="${up}openapi.json"></div>
<noscript>This page needs JavaScript. <a href="${up}openapi.json">The same as an OpenAPI document</a></noscript>
</body>
</html>
`
}

function fileResponse(path: string, type: string, options?: ImmutableOptions): PublicRoute {
  const read = (): Uint8Array => {
    const bytes = nodeFs.readFile(path)
    if (bytes) return bytes
    throw new Error(`${path} is missing: install the packages and build again`)
  }
  return immutableResponse(type, read, options)
}
