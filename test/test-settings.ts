import { config } from 'chai'
import fc from 'fast-check'

/** Random tests run the same values every time, so that a change fails for what it changed; `npm run proof -- model` takes other seeds. */
fc.configureGlobal({ seed: 20_260_301 })

// What differs is named: a failure may not come again.
config.truncateThreshold = 4000
