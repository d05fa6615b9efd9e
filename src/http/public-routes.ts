export type { Readiness } from './public-routes/health.ts'
export { metricsRoute } from './public-routes/metrics-route.ts'
export { signInLink } from './sessions/sign-in-link.ts'
