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

/** A page at an address, loaded when it is opened. Its search parameters are texts. */
function page(path: string, load: () => Promise<{ readonly default: RouteComponent }>) {
  return createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load),
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

const revision = () => import('./pages/revision/page.tsx')
const testset = () => import('./pages/testset/page.tsx')

const tree = root.addChildren([
  page('/', () => import('./pages/home/page.tsx')),
  page(A, () => import('./pages/artifact/page.tsx')),
  page(`${A}/v/$variant`, revision),
  page(`${A}/v/$variant/$version`, revision),
  page(`${A}/r/$revision`, revision),
  page(`${A}/edit/$variant`, () => import('./pages/edit/page.tsx')),
  page(`${A}/compare/$range`, () => import('./pages/compare/page.tsx')),
  page(`${A}/run`, () => import('./pages/run/page.tsx')),
  page(T, testset),
  page(`${T}/v/$variant`, testset),
  page(`${T}/v/$variant/$version`, testset),
  page(`${T}/compare/$range`, () => import('./pages/compare-testset/page.tsx')),
  page(`/${PAGES.query}/$slug`, () => import('./pages/query/page.tsx')),
  page(`/${PAGES.environments}`, () => import('./pages/deployments/page.tsx')),
  page(`/${PAGES.environments}/$slug`, () => import('./pages/environment/page.tsx')),
  page(`/${PAGES.evaluations}`, () => import('./pages/evaluations/page.tsx')),
  page(`/${PAGES.evaluations}/$id`, () => import('./pages/evaluation/page.tsx')),
  page(`/${PAGES.traces}`, () => import('./pages/traces/page.tsx')),
  page(`/${PAGES.traces}/$id`, () => import('./pages/trace/page.tsx')),
  page(`/${PAGES.settings}/$section`, () => import('./pages/settings/page.tsx')),
  // A user who is signed in opened a sign-in link.
  createRoute({
    getParentRoute: () => root,
    path: `/${PAGES.signIn}`,
    beforeLoad: () => {
      throw redirect({ to: '/', replace: true })
    },
  }),
  // Parts in their states, only for `npm run dev`.
  ...(import.meta.env.DEV ? [page('/stories', () => import('./stories/page.tsx'))] : []),
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
