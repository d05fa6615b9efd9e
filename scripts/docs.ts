import { writeFileSync } from 'node:fs'
import { generatedPages } from './docs/generated-pages.ts'

/** Writes the pages of `docs/` that are made from the code (`npm run docs`). */
for (const { path, shouldBe } of await generatedPages()) {
  writeFileSync(path, shouldBe)
  process.stdout.write(`${path} is written\n`)
}
