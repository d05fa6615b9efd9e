import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  type RouteComponent,
} from '@tanstack/react-router'
import { PAGES } from '../http/workbench/addresses.ts'
import { NotFound } from './pages/not-found/page.tsx'
import { Failure } from './parts/states/states.tsx'
import { Frame } from './shell/frame.tsx'

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound })

type Search = Readonly<Record<string, string | undefined>>

/** A page at an address. Its search parameters are texts. */
function page(path: string, component: RouteComponent) {
  return createRoute({
    getParentRoute: () => root,
    path,
    component,
    validateSearch: (search: Record<string, unknown>): Search =>
      Object.fromEntries(
        Object.entries(search).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, String(value)]],
        ),
      ),
  })
}

const A = `/${PAGES.artifact}/$slug`
const T = `/${PAGES.testset}/$slug`

const revision = lazyRouteComponent(() => import('./pages/revision/page.tsx'))
const testset = lazyRouteComponent(() => import('./pages/testset/page.tsx'))

const tree = root.addChildren([
  page(
    '/',
    lazyRouteComponent(() => import('./pages/home/page.tsx')),
  ),
  page(
    A,
    lazyRouteComponent(() => import('./pages/artifact/page.tsx')),
  ),
  page(`${A}/v/$variant`, revision),
  page(`${A}/v/$variant/$version`, revision),
  page(`${A}/r/$revision`, revision),
  page(
    `${A}/edit/$variant`,
    lazyRouteComponent(() => import('./pages/edit/page.tsx')),
  ),
  page(
    `${A}/compare/$range`,
    lazyRouteComponent(() => import('./pages/compare/page.tsx')),
  ),
  page(
    `${A}/run`,
    lazyRouteComponent(() => import('./pages/run/page.tsx')),
  ),
  page(T, testset),
  page(`${T}/v/$variant`, testset),
  page(`${T}/v/$variant/$version`, testset),
  page(
    `${T}/compare/$range`,
    lazyRouteComponent(() => import('./pages/compare-testset/page.tsx')),
  ),
  page(
    `/${PAGES.query}/$slug`,
    lazyRouteComponent(() => import('./pages/query/page.tsx')),
  ),
  page(
    `/${PAGES.environments}`,
    lazyRouteComponent(() => import('./pages/deployments/page.tsx')),
  ),
  page(
    `/${PAGES.environments}/$slug`,
    lazyRouteComponent(() => import('./pages/environment/page.tsx')),
  ),
  page(
    `/${PAGES.evaluations}`,
    lazyRouteComponent(() => import('./pages/evaluations/page.tsx')),
  ),
  page(
    `/${PAGES.evaluations}/$id`,
    lazyRouteComponent(() => import('./pages/evaluation/page.tsx')),
  ),
  page(
    `/${PAGES.traces}`,
    lazyRouteComponent(() => import('./pages/traces/page.tsx')),
  ),
  page(
    `/${PAGES.traces}/$id`,
    lazyRouteComponent(() => import('./pages/trace/page.tsx')),
  ),
  page(
    `/${PAGES.settings}/$section`,
    lazyRouteComponent(() => import('./pages/settings/page.tsx')),
  ),
  // A user who is signed in opened a sign-in link.
  createRoute({
    getParentRoute: () => root,
    path: `/${PAGES.signIn}`,
    beforeLoad: () => {
      throw redirect({ to: '/', replace: true })
    },
  }),
  // The parts in all states, only for `npm run dev`.
  ...(import.meta.env.DEV
    ? [
        page(
          '/stories',
          lazyRouteComponent(() => import('./stories/page.tsx')),
        ),
      ]
    : []),
])

/** The pages by address; each is loaded when it is opened. */
export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  defaultErrorComponent: ({ error }) => <Failure error={error} />,
  // Search parameters stay texts: `?page=12` is the text 12.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const kept = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString()
    return text === '' ? '' : `?${text}`
  },
})
