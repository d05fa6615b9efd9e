import { useState } from 'react'

/** What is wrong with fields whose text could not be taken, so that nothing is sent without it. */
export interface Problems {
  readonly first: string | undefined
  /** Takes note of what is wrong with a field, and of that nothing is any more. */
  readonly note: (field: string, problem: string | undefined) => void
  readonly clear: () => void
}

/** Fields tell what is wrong with them; the form asks whether anything is. */
export function useProblems(): Problems {
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  return {
    first: [...problems.values()][0],
    note: (field, problem) =>
      setProblems((before) => {
        if (before.get(field) === problem) return before
        const others = [...before].filter(([name]) => name !== field)
        return new Map(problem === undefined ? others : [...others, [field, problem]])
      }),
    clear: () => setProblems(new Map()),
  }
}
