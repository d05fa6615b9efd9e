export { type OpenSandbox, openSandbox } from './sandbox/open-sandbox.ts'
export { SANDBOX_LIMITS } from './sandbox/sandbox-limits.ts'
