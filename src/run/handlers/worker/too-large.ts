import { type HandlerFailure, outputsProblem } from '../handler-failure.ts'

/** The failure for two texts that are too large to compare in acceptable time. */
export function tooLarge(a: string, b: string): HandlerFailure {
  return outputsProblem(
    `Texts of ${a.length} and ${b.length} characters are too large to be compared by this measure; compare shorter ones.`,
  )
}
