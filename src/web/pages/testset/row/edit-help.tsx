import { Copyable } from '../../../parts/copy/copyable.tsx'
import { Modal } from '../../../parts/dialog/modal.tsx'
import type { Row } from '../rows.ts'
import type { Testset, TestsetRevision } from '../records.ts'

export interface EditHelpProps {
  readonly open: boolean
  readonly close: () => void
  readonly testset: Testset
  readonly revision: TestsetRevision
  readonly row: Row | undefined
  readonly column: string | undefined
}

/** How cells are changed while the page cannot: a command for the cell that has the focus. */
export function EditHelp({ open, close, testset, revision, row, column }: EditHelpProps) {
  return (
    <Modal open={open} close={close} title="Edit cells">
      <p>
        Cells cannot be changed on this page yet. A delta changes rows by their ids, and leaves all others as
        they are; a revision that is no longer the newest is refused, so nothing is overwritten. What the rows
        hold beside the changed cell is sent along.
      </p>
      <Copyable label="Changes this row" text={commandFor(testset, revision, row, column)} />
      <p>With git: clone the testset, change the row’s file, commit and push.</p>
      <Copyable label="Clones the testset" text={`git clone ${testset.git_url}`} />
    </Modal>
  )
}

function commandFor(
  testset: Testset,
  revision: TestsetRevision,
  row: Row | undefined,
  column: string | undefined,
): string {
  const commit = {
    testset_revision_commit: {
      testset_variant_id: revision.testset_variant_id,
      testset_revision_id: revision.id,
      message: 'Change a cell',
      delta: {
        rows: {
          replace: [
            {
              id: row?.id ?? '<id of the testcase>',
              data: changed(row, column),
            },
          ],
        },
      },
    },
  }
  const body = JSON.stringify(commit, null, 2).replaceAll("'", "'\\''")
  return `# ${testset.slug}
curl -X POST ${location.origin}/testsets/revisions/commit \\
  -H "Authorization: ApiKey $BRANCHPOINT_KEY" -H 'Content-Type: application/json' \\
  -d '${body}'`
}

/** The row with its cell changed. A row that is too long to be read here is named only, which the server refuses until it is put in. */
function changed(row: Row | undefined, column: string | undefined): unknown {
  const data = { ...row?.values, [column ?? 'column']: 'new value' }
  const { length } = JSON.stringify(data)
  return row && length <= LONGEST_SHOWN ? data : '<all cells of the row, one of them changed>'
}

const LONGEST_SHOWN = 4000
