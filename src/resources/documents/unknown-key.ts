import { nearestName } from '../../suggestions/nearest-name.ts'
import { MOST_LISTED } from './problems-refusal.ts'
import { formatValueForPeople } from './shown-value.ts'

/**
 * The sentence about a key that an object of a closed shape does not have: which was meant, or which there are. Behind `before` other
 * problems that is not looked for any more once nobody would be told.
 */
export function unknownKey(key: string, name: string, keys: readonly string[], before = 0): string {
  const meant = before < MOST_LISTED ? nearestName(key, keys) : undefined
  const remedy = meant === undefined ? `its keys are ${keys.join(', ')}` : `did you mean ${meant}?`
  return `${formatValueForPeople(key)} is not a key of ${name}; ${remedy}`
}
