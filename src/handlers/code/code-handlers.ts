import type { Handler } from '../handler.ts'
import { autoCustomCodeRun } from './auto-custom-code-run.ts'
import { customCode } from './custom-code.ts'

/** The handlers that run scripts of users, by the key of their uri. */
export const codeHandlers: ReadonlyMap<string, Handler> = new Map([
  ['code', customCode],
  ['auto_custom_code_run', autoCustomCodeRun],
])
