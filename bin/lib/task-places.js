const TASK_METADATA=`a2a_task_id`;const UUID=/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;function tasksIn(pool){return async taskId=>{if(!UUID.test(taskId))return void 0;const{rows}=await pool.query({text:`select thread_id, run_id from runs
        where thread_id = (select thread_id from runs where run_id = $1::uuid)
          and (run_id = $1::uuid or metadata ->> '${TASK_METADATA}' = $1::text)
        order by sequence desc limit 1`,values:[taskId.toLowerCase()]});const[row]=rows;return row&&{threadId:row.thread_id,runId:row.run_id}}}export{tasksIn as n,TASK_METADATA as t};