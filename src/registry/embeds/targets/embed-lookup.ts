import { parseUuid } from '../../store/ids.ts'
import type { Reference } from '../../store/reference.ts'
import { EmbedRefusal } from '../embed-refusal.ts'
import type { EmbedReference, EmbedReferences } from '../syntax/embed-token.ts'

/** How to look up a target: applications, evaluators and workflows are one family (interface 10.6). */
export interface EmbedLookup {
  readonly family: 'workflow' | 'environment'
  readonly references: Readonly<Partial<Record<EmbedLevel, Reference>>>
}

/** The levels that an embed's references can name. */
export type EmbedLevel = 'artifact' | 'variant' | 'revision'

/**
 * Combines an embed's references into one lookup. Refuses as in interface 10.6: `embed_invalid` for no
 * reference, `embed_unsupported_entity`, `embed_mixed_entities`, `embed_contradictory` for one level named
 * twice, and `embed_not_found` for a version that is no number.
 */
export function embedLookup(references: EmbedReferences): EmbedLookup {
  if (references.size === 0) {
    throw new EmbedRefusal(
      'embed_invalid',
      'It has no references; name its target under "@svc.references", such as {"workflow": {"slug": "tone"}}.',
    )
  }
  const wanted = [...references].map(([type, reference]) => ({ ...entityOf(type), type, reference }))
  const entities = [...new Set(wanted.map(({ entity }) => entity))]
  if (entities.length > 1) {
    throw new EmbedRefusal(
      'embed_mixed_entities',
      `Its references are of different entities (${entities.join(', ')}); let all of them be of one.`,
    )
  }
  const found: Partial<Record<EmbedLevel, Reference>> = {}
  for (const { level, type, reference } of wanted) {
    if (found[level]) {
      throw new EmbedRefusal(
        'embed_contradictory',
        `It names the ${level} twice, the second time as "${type}"; do so once.`,
      )
    }
    found[level] = lookedUp(reference)
  }
  return { family: entities[0] === 'environment' ? 'environment' : 'workflow', references: found }
}

const ENTITIES = ['workflow', 'application', 'evaluator', 'environment']

function entityOf(type: string): { readonly entity: string; readonly level: EmbedLevel } {
  for (const entity of ENTITIES) {
    if (type === entity || type === `${entity}_artifact`) return { entity, level: 'artifact' }
    if (type === `${entity}_variant`) return { entity, level: 'variant' }
    if (type === `${entity}_revision`) return { entity, level: 'revision' }
  }
  throw new EmbedRefusal(
    'embed_unsupported_entity',
    `"${type.slice(0, 80)}" cannot be embedded; refer to one of ${ENTITIES.join(', ')}, alone or with _variant or _revision.`,
  )
}

function lookedUp({ id, slug, version }: EmbedReference): Reference {
  return {
    ...(id === undefined ? {} : { id: parseUuid(id) }),
    ...(slug === undefined ? {} : { slug }),
    ...(version === undefined ? {} : { version: versionNumber(version) }),
  }
}

function versionNumber(version: string): number {
  const number = /^[0-9]{1,15}$/.test(version) ? Number(version) : 0
  if (number >= 1) return number
  throw new EmbedRefusal(
    'embed_not_found',
    `There is no version "${version.slice(0, 80)}"; versions are whole numbers from 1 on.`,
  )
}
