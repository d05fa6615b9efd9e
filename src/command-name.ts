import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * How messages call the command line: `branchpoint` where the package is installed, and `./branchpoint` in a checkout, where that is a
 * script at the root. Never by npx, which outside of a checkout runs another package of npm that is called branchpoint (decision 39).
 */
export const COMMAND = existsSync(fileURLToPath(new URL('../../branchpoint', import.meta.url)))
  ? './branchpoint'
  : 'branchpoint'
