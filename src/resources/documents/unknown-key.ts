import { nearestName } from '../../nearest-name.ts'
import { shownValue } from './shown-value.ts'

/** The sentence about a key that an object of a closed shape does not have: which was meant, or which there are. */
export function unknownKey(key: string, name: string, keys: readonly string[]): string {
  const meant = nearestName(key, keys)
  const remedy = meant === undefined ? `its keys are ${keys.join(', ')}` : `did you mean ${meant}?`
  return `${shownValue(key)} is not a key of ${name}; ${remedy}`
}
