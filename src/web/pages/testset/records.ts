import type { Answer } from '../../api/call.ts'

/** A testset as its flat record shows it. */
export type Testset = Answer<'GET /simple/testsets/{id}'>['testset']

/** A revision of it, with or without rows. */
export type TestsetRevision = Answer<'POST /testsets/revisions/retrieve'>['testset_revision']
