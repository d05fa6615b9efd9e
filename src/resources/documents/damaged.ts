import { Refusal } from '../../errors.ts'

/** The refusal of a payload that plain git brought and that does not read; `sentence` names the file and the place. */
export function damaged(sentence: string): Refusal {
  return new Refusal('damaged_repository', `${sentence} Commit a repaired version with git.`)
}
