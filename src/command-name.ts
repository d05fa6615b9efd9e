import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * The command line's name in messages: `branchpoint` if the package is installed, `npx branchpoint-server` if npx
 * runs it, `./branchpoint` in a checkout, where it is a script at the root. Never npx with the command's own
 * name: outside a checkout that runs an unrelated npm package called branchpoint (decisions 39 and 50).
 */
export const COMMAND = existsSync(fileURLToPath(new URL('../../branchpoint', import.meta.url)))
  ? './branchpoint'
  : process.env['npm_command'] === 'exec'
    ? 'npx branchpoint-server'
    : 'branchpoint'
