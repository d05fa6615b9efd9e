import { useNavigate, useRouterState } from '@tanstack/react-router'

/** The row that the address opens (`?row=`), and how another one is. */
export function useOpenRow(): {
  readonly row: string | undefined
  readonly open: (row: string) => void
  readonly close: () => void
} {
  const { pathname, search } = useRouterState({ select: ({ location }) => location })
  const navigate = useNavigate()
  const kept = search as Readonly<Record<string, string | undefined>>
  const go = (row: string | undefined): void =>
    void navigate({ to: pathname, search: { ...kept, row } as never, replace: true, resetScroll: false })
  return { row: kept['row'], open: go, close: () => go(undefined) }
}
