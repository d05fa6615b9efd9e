import { type HandlerFailure, outputsProblem } from '../handler-failure.ts'

/** Two texts that nothing would come of comparing before everybody has lost their patience. */
export function tooLarge(a: string, b: string): HandlerFailure {
  return outputsProblem(
    `Texts of ${a.length} and ${b.length} characters are too large to be compared by this measure; compare shorter ones.`,
  )
}
