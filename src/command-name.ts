import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * The command line's name in messages: `branchpoint` if the package is installed, `./branchpoint` in a
 * checkout, where it is a script at the root. Never npx, which outside a checkout runs an unrelated npm
 * package called branchpoint (decision 39).
 */
export const COMMAND = existsSync(fileURLToPath(new URL('../../branchpoint', import.meta.url)))
  ? './branchpoint'
  : 'branchpoint'
