import { useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext } from 'react'
import { type Answer, call } from '../api/call.ts'
import { Problem } from '../api/problem.ts'
import { Failure } from '../parts/states/failure.tsx'
import { SignIn } from '../pages/sign-in/page.tsx'

/** Who is signed in, and what the key behind the session may do. */
export type Session = Answer<'GET /sessions/current'>['session']

export type Scope = Session['scopes'][number]

const SessionContext = createContext<Session | undefined>(undefined)

/** Shows the sign-in page to whoever has no session, and everything else to whoever has one. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['session'],
    queryFn: () => call('GET /sessions/current', {}),
    staleTime: Infinity,
    retry: (failures, why) => !(why instanceof Problem) && failures < 30,
  })
  if (isPending) return null
  if (error instanceof Problem && error.status === 401) return <SignIn />
  if (!data) return <Failure error={error} retry={refetch} />
  return <SessionContext value={data.session}>{children}</SessionContext>
}

/** Of whoever is signed in; only below a `SessionGate`. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('useSession is used outside of SessionGate')
  return session
}

/** Why the key behind the session may not do what needs the scope; undefined if it may. */
export function useRefusal(scope: Scope | undefined): string | undefined {
  const { scopes, principal } = useSession()
  if (scope === undefined || scopes.includes('admin') || scopes.includes(scope)) return undefined
  return `The key "${principal.name}" lacks the scope ${scope}: an administrator can make one that has it.`
}
