import { type JsonObject, getKey, isJsonObject } from '../../../base/json.ts'
import { queryFamily, documentOf } from '../../../registry/families.ts'
import type { References, Registry } from '../../../registry/registries.ts'
import { resolveReference, readRevisionAt } from '../../../registry/revisions.ts'

/** The parts of a saved query; undefined if absent. */
export interface SavedQuery {
  readonly focus: 'trace' | 'span' | undefined
  readonly filtering: JsonObject | undefined
  readonly windowing: JsonObject | undefined
}

/** The query that the references name (interface 13.5). Refuses as `resolveReference` does. */
export async function findSavedQuery(registry: Registry, references: References): Promise<SavedQuery> {
  const place = await resolveReference(registry, queryFamily, references)
  const { stored } = await readRevisionAt(place)
  return savedQuery(stored.payload === undefined ? undefined : documentOf(stored.payload))
}

/** The query in a revision's data; without data it filters nothing. */
export function savedQuery(data: JsonObject | undefined): SavedQuery {
  const part = (name: string): JsonObject | undefined => {
    const value = data && getKey(data, name)
    return isJsonObject(value) ? value : undefined
  }
  const formatting = part('formatting')
  const focus = formatting && getKey(formatting, 'focus')
  return {
    focus: focus === 'trace' || focus === 'span' ? focus : undefined,
    filtering: part('filtering'),
    windowing: part('windowing'),
  }
}
