import { ask } from '../../support/postgres/postgres.ts'
import { FIRST_MIGRATION } from '../../../src/cluster/postgres/migrations/0001-log.ts'
import { SECOND_MIGRATION } from '../../../src/cluster/postgres/open-postgres.ts'

/** Makes of the empty database at `url` one as servers of version 2 left it, with nothing stored. */
export async function makeVersion2(url: string): Promise<void> {
  await ask(
    url,
    `create schema branchpoint;
    create table branchpoint.database (id uuid not null, version int not null);
    insert into branchpoint.database values (gen_random_uuid(), 2);
    ${FIRST_MIGRATION} ${SECOND_MIGRATION}`,
  )
}
