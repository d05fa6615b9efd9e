import { writeFileSync } from 'node:fs'
import { HANDLERS_PAGE, handlersPage } from './docs/handlers-page.ts'

/** Writes the pages of `docs/` that are made from the code (`npm run docs`). */
writeFileSync(HANDLERS_PAGE, await handlersPage())
process.stdout.write(`${HANDLERS_PAGE} is written\n`)
