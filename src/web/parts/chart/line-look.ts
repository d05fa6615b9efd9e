/** Lines are told apart by hue. */
export function hueOfLine(at: number): string {
  return `var(--env-${at % 6})`
}

/** And by their dashes, as not everybody sees hues. */
export function dashesOfLine(at: number): readonly number[] {
  return DASHES[at % DASHES.length] ?? []
}

const DASHES: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3]]
