import Database from 'libsql'

/** Makes a file of traces as version 1 left it: two traces, three spans, with all references in their records. */
export function makeVersionOne(file: string): void {
  const database = new Database(file)
  database.exec('PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL')
  database.exec(VERSION_ONE)
  database.close()
}

/** What the program of sqlite3 dumped of a file that version 1 had written. */
const VERSION_ONE = `
  CREATE TABLE traces (
    id INTEGER PRIMARY KEY,
    trace_id TEXT NOT NULL UNIQUE,
    start_time INTEGER NOT NULL
  );
  INSERT INTO traces VALUES(1,'01a2030b1447262e5a7e24622c6824cd',1795347387464075);
  INSERT INTO traces VALUES(2,'01a2030b1449b48dfa85ab812b418bbe',1795347387465118);
  CREATE TABLE spans (
    id INTEGER PRIMARY KEY,
    trace INTEGER NOT NULL REFERENCES traces (id),
    span_id TEXT NOT NULL,
    parent_id TEXT,
    trace_type TEXT NOT NULL,
    span_type TEXT NOT NULL,
    span_name TEXT NOT NULL,
    status_code TEXT NOT NULL,
    session_id TEXT,
    start_time INTEGER NOT NULL,
    record TEXT NOT NULL,
    UNIQUE (trace, span_id)
  );
  INSERT INTO spans VALUES(1,1,'416fd0a80fb6d9f5',NULL,'invocation','workflow','chat_v0','STATUS_CODE_OK',NULL,1795347387464075,'{"trace_id":"01a2030b1447262e5a7e24622c6824cd","span_id":"416fd0a80fb6d9f5","trace_type":"invocation","span_type":"workflow","span_kind":"SPAN_KIND_SERVER","span_name":"chat_v0","start_time":"2026-11-22T11:36:27.464075Z","end_time":"2026-11-22T11:36:27.464172Z","status_code":"STATUS_CODE_OK","attributes":{"svc":{"type":{"trace":"invocation","span":"workflow"},"data":{"inputs":{"country":"Perú","n":1}},"metrics":{"duration":{"cumulative":0.097}},"references":{"workflow":{"id":"0199f3b2-7c1d-7a52-9d2e-3f1b2c4d5e6f","slug":"bot"},"workflow_revision":{"id":"c0b1cf43-a06c-871b-a71e-3f1b2c4d5e6f","slug":"bot-3","version":"3"}}}},"references":[{"id":"0199f3b2-7c1d-7a52-9d2e-3f1b2c4d5e6f","slug":"bot","attributes":{"key":"workflow"}},{"id":"c0b1cf43-a06c-871b-a71e-3f1b2c4d5e6f","slug":"bot-3","version":"3","attributes":{"key":"workflow_revision"}}],"created_at":"2026-03-01T13:00:00.000000Z"}');
  INSERT INTO spans VALUES(2,2,'cef126b84b4fc3eb','e1e4cfe2f288257d','invocation','llm','model','STATUS_CODE_ERROR','s-1',1795347387465141,'{"trace_id":"01a2030b1449b48dfa85ab812b418bbe","span_id":"cef126b84b4fc3eb","parent_id":"e1e4cfe2f288257d","trace_type":"invocation","span_type":"llm","span_kind":"SPAN_KIND_INTERNAL","span_name":"model","start_time":"2026-11-22T11:36:27.465141Z","end_time":"2026-11-22T11:36:27.465162Z","status_code":"STATUS_CODE_ERROR","status_message":"it’s \\"late\\"","session_id":"s-1","attributes":{"svc":{"type":{"trace":"invocation","span":"llm"},"data":{},"metrics":{"duration":{"cumulative":0.021},"errors":{"incremental":1,"cumulative":1}},"session":{"id":"s-1"}},"gen_ai":{"request":{"model":"m"}}},"exception":{"type":"RateLimit","message":"it’s \\"late\\""},"events":[{"name":"exception","timestamp":"2026-11-22T11:36:27.465162Z","attributes":{"type":"RateLimit","message":"it’s \\"late\\""}}],"created_at":"2026-03-01T13:00:00.000000Z"}');
  INSERT INTO spans VALUES(3,2,'e1e4cfe2f288257d',NULL,'invocation','workflow','chat_v0','STATUS_CODE_OK','s-1',1795347387465118,'{"trace_id":"01a2030b1449b48dfa85ab812b418bbe","span_id":"e1e4cfe2f288257d","trace_type":"invocation","span_type":"workflow","span_kind":"SPAN_KIND_SERVER","span_name":"chat_v0","start_time":"2026-11-22T11:36:27.465118Z","end_time":"2026-11-22T11:36:27.465245Z","status_code":"STATUS_CODE_OK","session_id":"s-1","attributes":{"svc":{"type":{"trace":"invocation","span":"workflow"},"data":{"inputs":{"country":"Perú","n":2}},"metrics":{"duration":{"cumulative":0.127},"errors":{"cumulative":1}},"session":{"id":"s-1"},"references":{"workflow":{"id":"0199f3b2-7c1d-7a52-9d2e-3f1b2c4d5e6f","slug":"bot"},"workflow_revision":{"id":"c0b1cf43-a06c-871b-a71e-3f1b2c4d5e6f","slug":"bot-3","version":"3"}}}},"references":[{"id":"0199f3b2-7c1d-7a52-9d2e-3f1b2c4d5e6f","slug":"bot","attributes":{"key":"workflow"}},{"id":"c0b1cf43-a06c-871b-a71e-3f1b2c4d5e6f","slug":"bot-3","version":"3","attributes":{"key":"workflow_revision"}}],"created_at":"2026-03-01T13:00:00.000000Z"}');
  CREATE INDEX traces_by_time ON traces (start_time, trace_id);
  CREATE INDEX spans_by_time ON spans (start_time, span_id);
  PRAGMA user_version = 1;
`
