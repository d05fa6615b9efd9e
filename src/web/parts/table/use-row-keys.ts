import { useState } from 'react'
import { useCommands } from '../../shell/commands.tsx'

/** Goes through the rows of a list by j and k, and opens the one that it is at by Enter. Answers where it is; -1 before the first key. */
export function useRowKeys<T>(what: string, rows: readonly T[], open: (row: T) => void): number {
  const [at, setAt] = useState(-1)
  const go = (to: number): void => {
    setAt(Math.max(0, Math.min(rows.length - 1, to)))
    // Enter would go on belonging to the button or link that was pressed last.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  }
  const here = rows[at]
  useCommands([
    { id: 'next', title: `Next ${what}`, keys: 'j', run: () => go(at + 1) },
    { id: 'previous', title: `The ${what} before`, keys: 'k', run: () => go(at - 1) },
    {
      id: 'open',
      title: `Open the ${what}`,
      keys: 'enter',
      run: () => {
        if (here !== undefined) open(here)
      },
    },
  ])
  return at
}
