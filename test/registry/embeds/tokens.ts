import type { JsonObject } from '../../../src/base/json/json.ts'

/** A form A embed of a revision slug. */
export function objectToken(slug: string, selector: { key?: string; path?: string } = {}): JsonObject {
  return {
    '@svc.embed': { '@svc.references': { workflow_revision: { slug } }, '@svc.selector': selector },
  }
}

/** A form B embed of a revision slug. */
export function longToken(slug: string, path?: string): string {
  const selector = path === undefined ? '' : `, @svc.selector[path=${path}]`
  return `@svc.embed[@svc.references[workflow_revision.slug=${slug}]${selector}]`
}

/** A form C embed of a revision slug; its path begins at the parameters, and '' selects everything. */
export function shortToken(slug: string, path = ''): string {
  return `@{{workflow_revision.slug=${slug}, path=${path}}}`
}
