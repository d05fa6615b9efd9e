import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { PAGES } from '../../http/workbench/addresses.ts'
import { type Answer, call, Problem, Unreachable } from '../api/call.ts'
import { Failure } from '../parts/states/states.tsx'
import { SignIn } from '../pages/sign-in/page.tsx'

/** The signed-in key and its scopes. */
export type Session = Answer<'GET /sessions/current'>['session']

export type Scope = Session['scopes'][number]

const SessionContext = createContext<Session | undefined>(undefined)

/** Shows the sign-in page without a session, and the children with one. A sign-in link signs in first. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const link = useSignInLink()
  const { data, error, failureReason, isPending, refetch } = useQuery({
    queryKey: ['session'],
    queryFn: () => call('GET /sessions/current', {}),
    staleTime: Infinity,
    enabled: !link.isBusy,
  })
  const unreachable = link.isBusy ? link.problem : isPending && failureReason
  if (unreachable) return <Failure error={new Error(WAITING)} />
  if (link.isBusy || isPending) return null
  if (error instanceof Problem && error.status === 401)
    return <SignIn problem={link.problem instanceof Error ? link.problem.message : endOf(error)} />
  if (!data) return <Failure error={error} retry={refetch} />
  return <SessionContext value={data.session}>{children}</SessionContext>
}

/** Why a session is over; undefined where there was none. */
function endOf({ code }: Problem): string | undefined {
  if (code === 'missing_key') return undefined
  return 'Your session has ended: it expired, or its key did or was revoked. Sign in to go on. Drafts are kept in this browser.'
}

const WAITING = 'The server does not answer. The page tries again by itself.'

/** The pause before a sign-in link is tried again, in milliseconds. */
const PAUSE = 1500

/**
 * Signs in with the token of `/signin#token=…`, when the page is opened with it, and when it is entered into an open page, which the browser does
 * not reload. The token is removed from the address, so that it does not stay in the history. `problem` is why it failed.
 */
function useSignInLink(): { readonly isBusy: boolean; readonly problem: unknown } {
  const cache = useQueryClient()
  const [state, setState] = useState(() => ({
    isBusy: tokenInAddress() !== undefined,
    problem: undefined as unknown,
  }))
  useEffect(() => {
    let newest = 0
    async function take(): Promise<void> {
      const token = tokenInAddress()
      if (token === undefined) return
      history.replaceState(null, '', SIGN_IN)
      const turn = ++newest
      setState({ isBusy: true, problem: undefined })
      for (;;) {
        try {
          await call('POST /sessions', { body: { session: { token } } })
          history.replaceState(null, '', '/')
          setState({ isBusy: false, problem: undefined })
          return await cache.resetQueries()
        } catch (problem) {
          if (turn !== newest) return
          const isBusy = problem instanceof Unreachable
          setState({ isBusy, problem })
          if (!isBusy) return
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE))
      }
    }
    const onHash = (): void => void take()
    onHash()
    window.addEventListener('hashchange', onHash)
    return () => window.removeEventListener('hashchange', onHash)
  }, [cache])
  return state
}

const SIGN_IN = `/${PAGES.signIn}`

function tokenInAddress(): string | undefined {
  if (location.pathname !== SIGN_IN) return undefined
  return new URLSearchParams(location.hash.slice(1)).get('token') ?? undefined
}

/** The session; only below a `SessionGate`. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('useSession is used outside of SessionGate')
  return session
}

/** Why the session's key may not do what needs the scope; undefined if it may. */
export function useRefusal(scope: Scope | undefined): string | undefined {
  const { scopes, principal } = useSession()
  if (scope === undefined || scopes.includes('admin') || scopes.includes(scope)) return undefined
  return `The key "${principal.name}" lacks the scope ${scope}: an administrator can make one that has it.`
}
