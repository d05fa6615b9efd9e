import { workflowSurfaces } from '../../src/run/handlers/workflows.ts'
import { groupBy } from '../../src/base/json/json-values.ts'
import type { Surface } from '../../src/registry/families/surface.ts'
import { surfacesOf } from '../../src/registry/families/surfaces.ts'
import { resourceSettings } from '../../src/server/resource-settings.ts'
import { markdownTable } from './generated-part.ts'
import { DOCS_CONFIG, type Operation, openApiDocument } from './openapi-document.ts'

/** An operation; of those that surfaces have, with its route and summary as they are of any surface. */
interface Row {
  readonly section: string
  readonly route: string
  readonly surface: Surface | undefined
  readonly scope: string
  readonly does: string
}

const [ARTIFACTS, FLAT, CATALOG] = ['Artifacts, variants and revisions', 'Flat records', 'Catalog']

/** Every route with its scope and what it does, as docs/api.md shows them: what a server says of its endpoints in /openapi.json. */
export async function apiTables(): Promise<string> {
  const surfaces = surfacesOf(workflowSurfaces, resourceSettings(DOCS_CONFIG))
  const { paths = {} } = await openApiDocument()
  const rows = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) =>
      rowOf(surfaces, `${method.toUpperCase()} ${path}`, operation),
    ),
  )
  const bySection = groupBy(rows, ({ section }) => section)
  return [...new Set([ARTIFACTS, FLAT, CATALOG, ...bySection.keys()])]
    .map((section) => `### ${section}\n\n${tableOf(bySection.get(section) ?? [], surfaces.length)}`)
    .join('\n')
}

function rowOf(surfaces: readonly Surface[], route: string, operation: Operation): Row {
  const surface = surfaces.find(({ path }) => new RegExp(`^\\w+ (?:/simple)?/${path}(?:/|$)`).test(route))
  const { tags: [tag = 'other'] = [], summary, description } = operation
  const isShared = surface || surfaces.some(({ plural }) => plural === tag)
  return {
    section: isShared ? sectionOf(route) : `${tag[0]?.toUpperCase()}${tag.slice(1)}`,
    route: surface ? route.replace(`/${surface.path}`, '/X') : route,
    surface,
    scope: scopeOf(operation),
    does: [summary, description].filter(Boolean).join('. '),
  }
}

function sectionOf(route: string): string {
  if (route.includes('/catalog/')) return CATALOG
  return route.includes('/simple/') ? FLAT : ARTIFACTS
}

/** What a surface says of its things, said of those of any. */
function inAnyWords(text: string, { singular, plural }: Surface): string {
  return text
    .replaceAll(new RegExp(`\\ba ${singular}\\b`, 'g'), 'an artifact')
    .replaceAll(new RegExp(`\\b${singular}\\b`, 'g'), 'artifact')
    .replaceAll(new RegExp(`\\b${plural}\\b`, 'g'), 'artifacts')
    .replaceAll(new RegExp(`\\b${singular}_`, 'g'), 'X_')
}

/** The scopes of which a key needs one. */
function scopeOf({ security }: Operation): string {
  if (security === undefined) return '`read`'
  const scopes = security.flatMap(({ ApiKey = [] }) => ApiKey)
  if (security.length === 0) return 'no key'
  return scopes.length === 5 ? 'any key' : scopes.map((scope) => `\`${scope}\``).join(' or ')
}

/** What several surfaces have alike is one row, in which X stands for each of them. */
function tableOf(rows: readonly Row[], ofAll: number): string {
  const isShared = rows.some(({ surface }) => surface)
  const lines = [...groupBy(rows, ({ route }) => route).values()].flatMap((ofRoute) => {
    const alike = groupBy(ofRoute, ({ does, surface, scope }) => {
      const isSaidOfMany = ofRoute.filter((other) => other.does === does).length > 1
      return `${scope} ${surface && !isSaidOfMany && ofRoute.length > 1 ? inAnyWords(does, surface) : does}`
    })
    return [...alike].map(([text, [first, ...others]]) => {
      if (!first) return []
      const { route, scope, does, surface } = first
      const names = [first, ...others].flatMap((row) => row.surface?.path ?? [])
      const isOfOne = others.length === 0 && surface
      return [
        `\`${isOfOne ? route.replace('/X', `/${surface.path}`) : route}\``,
        ...(isShared ? [names.length === ofAll ? 'all' : names.join(', ')] : []),
        scope,
        isOfOne ? does : text.slice(scope.length + 1),
      ]
    })
  })
  return markdownTable([['Route', ...(isShared ? ['Surfaces'] : []), 'Scope', 'Does'], ...lines])
}
