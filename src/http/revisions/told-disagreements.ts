import { Refusal } from '../../errors.ts'
import type { Warning } from '../../registry/families.ts'
import type { Disagreement } from '../../registry/revisions.ts'
import type { PresentOptions } from './record.ts'

/**
 * What the sender of references is told of those that were not followed and name something else than what was found. Refuses with
 * `contradictory_request` where clients count on that.
 */
export function toldDisagreements(
  disagreeing: readonly Disagreement[],
  singular: string,
  { contradictions }: PresentOptions,
): readonly Warning[] {
  const told = disagreeing.map(({ level, field, value, found, why }) => {
    const name = level === 'environment' ? 'environment_ref' : `${singular}${LEVELS[level]}_ref`
    const than = found === undefined ? 'what was found' : `${JSON.stringify(found)}, which was found`
    return { name, sentence: `${name}.${field} ${JSON.stringify(value)} does not match ${than}: ${why}` }
  })
  if (told.length > 0 && contradictions === 'refused') {
    const all = told.map(({ sentence }) => sentence).join('; ')
    throw new Refusal('contradictory_request', `${all}. Leave out what does not belong there.`)
  }
  return told.map(({ name, sentence }) => ({
    code: 'reference_disagrees',
    message: `${sentence}. The most specific reference was followed.`,
    target: [name],
  }))
}

const LEVELS = { artifact: '', variant: '_variant', revision: '_revision' } as const
