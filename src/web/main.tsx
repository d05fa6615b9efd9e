import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { whenSignedOut, Problem, Unreachable } from './api/call.ts'
import { router } from './routes.tsx'
import { Commands } from './shell/commands.tsx'
import { startLive } from './shell/live.tsx'
import { cspNonce, applyTheme } from './shell/document.ts'
import { SessionGate } from './shell/session.tsx'
import './theme/tokens.css'
import './theme/base.css'

applyTheme()
const nonce = cspNonce()
if (nonce !== undefined) setNonce(nonce)

const cache = new QueryClient({
  defaultOptions: {
    // Refusals are not retried. Requests that did not reach the server are retried until they do.
    queries: {
      retry: (failures, error) =>
        error instanceof Unreachable || (!(error instanceof Problem) && failures < 3),
      retryDelay: 1500,
    },
  },
})
whenSignedOut(() => void cache.invalidateQueries({ queryKey: ['session'] }))

// The page's files come while the session is asked for.
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  const route = router.routesById[routeId]
  if (route) void router.loadRouteChunk(route)
}

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={cache}>
      <SessionGate>
        <Live />
        <Commands>
          <RouterProvider router={router} />
        </Commands>
      </SessionGate>
    </QueryClientProvider>
  </StrictMode>,
)

let isLive = false

/** Events need a session. */
function Live() {
  if (!isLive) {
    isLive = true
    startLive(() => void cache.invalidateQueries({ queryKey: ['session'] }))
  }
  return null
}
