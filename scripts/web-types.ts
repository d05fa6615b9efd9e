import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { openApiDocument } from './docs/openapi-document.ts'
import { routeTypes } from './docs/route-types.ts'

/** Where the page's TypeScript finds them (`src/web/tsconfig.json`). */
const FILE = 'dist/web-types/routes.d.ts'

/** Writes the types of every route, for the page: made of the OpenAPI document, so that the page and the server cannot drift apart. */
mkdirSync(dirname(FILE), { recursive: true })
writeFileSync(FILE, routeTypes(await openApiDocument()))
