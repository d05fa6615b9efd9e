import { Button } from '../../parts/button/button.tsx'
import { Empty } from '../../parts/states/empty.tsx'
import { FileDrop } from '../../parts/upload-drop/file-drop.tsx'
import { chooseFile } from '../../parts/upload-drop/choose-file.ts'
import styles from './testset.module.css'
import type { Testset } from './records.ts'

/** A testset that has no version yet. */
export function NoRows({
  testset,
  drop,
}: {
  readonly testset: Testset
  readonly drop: (file: File) => void
}) {
  return (
    <FileDrop className={styles.rows} label="Drop a file to make the first version" drop={drop}>
      <Empty
        action={
          <Button needs="write" onClick={() => void chooseFile().then((file) => file && drop(file))}>
            Choose a file
          </Button>
        }
        command={`curl -F file=@rows.csv -H "Authorization: ApiKey $BRANCHPOINT_KEY" ${location.origin}/simple/testsets/${testset.slug}/upload`}
      >
        <b>{testset.slug}</b> has no rows yet. Drop a CSV, JSON or JSONL file here: its rows become version 1.
      </Empty>
    </FileDrop>
  )
}
