import type { Handler } from '../handler.ts'
import { autoCustomCodeRun } from './auto-custom-code-run.ts'
import { code } from './code.ts'

/** The handlers that run scripts of users (contract/handlers 2.5, 2.6), by the key of their uri. */
export const codeHandlers: ReadonlyMap<string, Handler> = new Map([
  ['code', code],
  ['auto_custom_code_run', autoCustomCodeRun],
])
