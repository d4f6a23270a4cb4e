"""The facade: what users call.  Methods that reach across stages live here, so that the stages stay pure."""
