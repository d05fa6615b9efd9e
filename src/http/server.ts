export { type Handle, type RunningServer, reachableHost, startServer } from './server/server.ts'
export { shutDownOnSignals } from './server/shutdown.ts'
export { Steps } from './server/steps.ts'
